module seatrial.example/goscheduler

go 1.22
